/**
 * Accepts connections, in plain text or with TLS, and holds the limits of a process. One thread for each listener.
 */
package dev.stoker.server.session.accept;
