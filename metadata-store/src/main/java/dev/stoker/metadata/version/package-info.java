/**
 * Names of versions: numbers, tags, times and {@code DATASET@VERSION}.
 */
package dev.stoker.metadata.version;
