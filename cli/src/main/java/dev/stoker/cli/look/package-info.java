/**
 * Verbs that look at datasets and samples.
 */
package dev.stoker.cli.look;
