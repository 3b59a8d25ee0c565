/**
 * Authenticates trainers and protects connections: the token, certificate and key, and the trainers' certificates. All
 * of them are files. The feeder checks the files while it runs, so renewed ones need no restart. This package uses no
 * sockets, frames or threads.
 */
package dev.stoker.server.security;
