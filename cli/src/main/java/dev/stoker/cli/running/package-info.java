/**
 * Finds running feeds by the files that they keep, and asks them for their state.
 */
package dev.stoker.cli.running;
