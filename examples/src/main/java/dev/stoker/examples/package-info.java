/**
 * Runnable, tested examples.
 */
package dev.stoker.examples;
