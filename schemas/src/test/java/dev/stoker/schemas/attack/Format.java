package dev.stoker.schemas.attack;

/**
 * A file or frame that {@link BitFlips} damages.
 *
 * @param name name for reports
 * @param bytes the intact bytes
 * @param unread the bytes whose damage may go unnoticed because it changes nothing that the reader returns, for
 *     reports; empty if the reader must notice all damage
 * @param reader reads the bytes
 */
public record Format(String name, byte[] bytes, String unread, Reader reader) {

    /** Reads a whole file or frame, and checks all that a consumer would use. */
    @FunctionalInterface
    public interface Reader {
        /** Returns the content; contents are equal if a consumer cannot tell them apart. */
        Object read(byte[] bytes) throws Exception;
    }

    /** A format whose reader must notice every flipped bit. */
    public Format(String name, byte[] bytes, Reader reader) {
        this(name, bytes, "", reader);
    }
}
