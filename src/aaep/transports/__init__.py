"""
How messages travel: one file for each transport, found by the scheme of a URL (:func:`aaep.channel.transport`).

Each offers ``serve(hub, url, **settings)``, which opens a :class:`~aaep.channel.Door`,
and ``connect(url, **settings)``, which gives a :class:`~aaep.channel.Channel`.
"""
