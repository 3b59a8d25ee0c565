/**
 * Turns the order into bytes: contains the open windows of all groups, and builds messages from their rows.
 *
 * <p>To open a window, the feeder reads the heads of its chunks into its own memory and checks them, each time. All
 * sessions of a group that are in the same window share it. Messages refer to payload as slices of retained chunks.
 * This package uses no sockets.
 */
package dev.stoker.server.window;
