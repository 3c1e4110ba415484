"""
How messages travel: one file for each transport, found by the scheme of a URL (:func:`aaep.transports.base.transport`).

Each offers ``serve(hub, url, **settings)``, which opens a :class:`~aaep.transports.base.Door`,
and ``connect(url, **settings)``, which gives a :class:`~aaep.transports.base.Channel`.
"""
