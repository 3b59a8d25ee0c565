"""The byte layouts that Java and Python share: checksums, fields, Arrow messages, flatbuffers, Avro and canonical JSON.

Pure functions of bytes and arrays: no files, sockets or threads. Depends on `stoker.errors` only.
"""
