/**
 * From order to bytes: the open windows of all groups, and the messages built from their rows.
 *
 * <p>A window is opened by reading its chunks' heads into owned memory and checking them, each time; it is shared by all
 * sessions of a group that are at the same place. Messages take payload as slices of held chunks. Knows no sockets.
 */
package dev.stoker.feeder.node.window;
