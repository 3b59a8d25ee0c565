/** Flipped bits of all formats, through their readers. */
package dev.stoker.schemas.flips;
