/** Knows all formats, and finds out which of them a file has. */
package dev.stoker.formats.detection;
