/**
 * A split of the source of files: one directory. Values and their serializer, no input or output.
 */
package dev.stoker.connectors.files.source.split;
