"""`recall web`: the index as pages for a browser on this machine, read-only.

`server` speaks HTTP and lets nobody in without the key (`gate`); `router` says which page an address means; the pages are
made by `finding`, `facets`, `activity` and `session`, and framed by `frame`. The index is opened for one request at a time (`index`).
"""
