"""
How messages travel: one package for each kind of server, found by the scheme of a URL.

Each offers ``serve(hub, url, **settings)``, which opens a :class:`~aaep.hub.face.Server`,
and ``connect(url, **settings)``, which gives a :class:`~aaep.transports.base.Channel`.
"""
