/**
 * Assigns the directories of a tree to readers and detects the end of the walk. All methods run on the coordinator's
 * thread. The enumerator reads no directory itself.
 */
package dev.stoker.connectors.files.source.enumerator;
