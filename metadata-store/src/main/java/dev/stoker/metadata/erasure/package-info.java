/**
 * Erases samples: removes them, rewrites the chunks that contain them, ends the versions of these chunks, deletes the
 * files, and writes a certificate. Checks certificates by reading all remaining files. Knows neither the command nor
 * the language of conditions.
 */
package dev.stoker.metadata.erasure;
