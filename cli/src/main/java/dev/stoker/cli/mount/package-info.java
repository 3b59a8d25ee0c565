/**
 * Verbs that mount a dataset as a file system.
 */
package dev.stoker.cli.mount;
