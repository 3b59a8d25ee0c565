/**
 * Finds the samples that a rule selects, in parallel over the chunks, and removes them with one commit. Knows neither
 * the command nor the language of conditions.
 */
package dev.stoker.metadata.removal;
