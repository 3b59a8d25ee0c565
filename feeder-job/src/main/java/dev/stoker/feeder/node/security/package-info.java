/**
 * Who may come in and how connections are protected: the token, certificate and key, and the certificates of trainers. All are
 * files, looked at again while the feeder runs, so that renewed ones need no restart. It knows nothing of sockets or frames;
 * no thread of its own.
 */
package dev.stoker.feeder.node.security;
