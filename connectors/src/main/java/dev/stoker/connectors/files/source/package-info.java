/**
 * The files of a tree as a bounded Flink source, built by {@link dev.stoker.connectors.files.source.FileTreeSource}.
 */
package dev.stoker.connectors.files.source;
