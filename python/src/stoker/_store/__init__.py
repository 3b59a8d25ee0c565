"""Object stores and web servers as places of datasets, and the disk cache of what is read from them.

Starts threads that download, and in a forked process a second process that talks to the store.
"""
