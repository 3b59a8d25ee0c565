/** Blocks of compressed bytes that are in memory, and the memory that their contents may take. */
package dev.stoker.formats.block;
