"""
Transports: one package for each kind of connection, chosen by the scheme of a URL.

Each package has ``serve(hub, url, options)``, which opens a :class:`~aaep.hub.face.Server`,
and ``connect(url, options)``, which returns a :class:`~aaep.transports.base.Channel`.
"""
