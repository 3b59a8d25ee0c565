/**
 * Serves one feed in one process: port, sessions, windows, mapped chunk files and acknowledgements.
 *
 * <p>All readers of a process share one {@link dev.stoker.server.FeedNode}. It is independent of Flink: the source
 * registers lanes, passes lane maps in, drains the acknowledgements and reports which of them are durable. The
 * trainers' subscriptions alone determine which batch is sent next. Threads: one acceptor (connections and handshakes),
 * one reader and one sender per session, and a few openers of windows.
 */
package dev.stoker.server;
