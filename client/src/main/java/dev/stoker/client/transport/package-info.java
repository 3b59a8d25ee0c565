/** Sockets, TLS, local reads and buffers. Internal. */
package dev.stoker.client.transport;
