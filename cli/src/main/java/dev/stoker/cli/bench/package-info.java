/**
 * Verbs that measure.
 */
package dev.stoker.cli.bench;
