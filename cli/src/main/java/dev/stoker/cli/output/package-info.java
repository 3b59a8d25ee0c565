/**
 * What a command prints: tables, JSON, progress and errors, safe for the terminal that shows them.
 */
package dev.stoker.cli.output;
