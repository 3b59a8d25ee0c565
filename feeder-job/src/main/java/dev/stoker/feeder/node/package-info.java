/**
 * The serving side of one feed in one process: port, sessions, windows, mapped chunk files and acknowledgements.
 *
 * <p>{@link dev.stoker.feeder.node.FeedNode} is shared by all readers of a process. It knows nothing of Flink: the source
 * registers lanes, hands in lane maps, drains what trainers acknowledged and says what became durable. Which batch goes out
 * next is decided by the trainers' subscriptions alone. Threads: one doorman (accepts and handshakes), one reader and one
 * sender per session, a few openers of windows.
 */
package dev.stoker.feeder.node;
