/** Reads tar archives: ustar, pax and GNU, member after member, from a stream. Checks every header. */
package dev.stoker.formats.tar;
