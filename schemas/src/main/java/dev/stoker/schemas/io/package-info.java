/**
 * The only interface that the formats need from storage: reading ranges of a file.
 */
package dev.stoker.schemas.io;
