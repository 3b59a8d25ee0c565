/**
 * Pictures in a terminal.
 */
package dev.stoker.cli.image;
