/**
 * The command stoker, one class per verb.
 */
package dev.stoker.cli;
