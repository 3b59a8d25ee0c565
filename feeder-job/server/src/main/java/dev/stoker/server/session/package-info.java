/**
 * Serves trainers: accepts and authenticates connections, and runs their sessions.
 *
 * <p>The acceptor authenticates each connection. Each session has two threads: one reads the trainer's requests and one
 * sends the batches, in plain text or with TLS. A malformed frame, a fault or a slow trainer affects only its own
 * session. The server allocates no memory for a declared length before it has checked the length.
 */
package dev.stoker.server.session;
