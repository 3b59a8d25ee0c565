/**
 * Feed protocol 1: the frames between trainer and feeder, as pure encoder and decoder.
 *
 * <p>{@code docs/formats/feed-protocol.md} is normative. Nothing here knows sockets, threads, time-outs or sessions.
 * Frames are immutable values; {@link dev.stoker.schemas.protocol.FrameDecoder} belongs to one connection and one
 * thread. Whatever arrives, decoding ends in a frame or a
 * {@link dev.stoker.schemas.protocol.ProtocolException}, and allocates no more than a small multiple of the bytes that
 * did arrive.
 */
package dev.stoker.schemas.protocol;
