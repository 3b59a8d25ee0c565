/**
 * Verbs that keep a dataset in good order: verify, repair, compact and collect garbage.
 */
package dev.stoker.cli.keep;
