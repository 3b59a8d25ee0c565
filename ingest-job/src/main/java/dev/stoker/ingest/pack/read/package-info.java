/**
 * Reads samples and their labels from source files.
 */
package dev.stoker.ingest.pack.read;
