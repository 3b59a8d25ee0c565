/**
 * Reads the columns of a file as other types that hold their values. Depends on the parent package only; it starts no
 * threads.
 */
package dev.stoker.formats.convert;
