/**
 * The command {@code stoker}, with one class for each verb.
 */
package dev.stoker.cli;
