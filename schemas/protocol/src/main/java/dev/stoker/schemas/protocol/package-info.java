/**
 * Feed protocol 1: the frames between trainer and feeder, with a pure encoder and decoder.
 *
 * <p>{@code docs/formats/feed-protocol.md} is normative. This package uses no sockets, threads, time-outs or sessions.
 * Frames are immutable values; the larger ones read and write their bodies. A {@link
 * dev.stoker.schemas.protocol.codec.FrameDecoder} belongs to one connection and one thread. For any input, decoding
 * returns a frame or throws a {@link dev.stoker.schemas.protocol.ProtocolException}, and allocates at most a small
 * multiple of the received bytes.
 */
package dev.stoker.schemas.protocol;
