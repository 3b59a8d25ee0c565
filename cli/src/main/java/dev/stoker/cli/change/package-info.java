/**
 * Verbs that change samples and tags.
 */
package dev.stoker.cli.change;
