/**
 * Verbs that copy datasets.
 */
package dev.stoker.cli.copy;
