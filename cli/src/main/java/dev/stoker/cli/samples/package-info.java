/**
 * Opens datasets, and reads the samples that arguments name.
 */
package dev.stoker.cli.samples;
