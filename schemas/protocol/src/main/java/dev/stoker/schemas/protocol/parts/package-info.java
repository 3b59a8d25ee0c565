/**
 * Values that several messages of the feed protocol share.
 */
package dev.stoker.schemas.protocol.parts;
