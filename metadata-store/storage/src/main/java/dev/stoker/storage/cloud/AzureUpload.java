package dev.stoker.storage.cloud;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.azure.core.util.BinaryData;
import com.azure.core.util.Context;
import com.azure.storage.blob.models.BlobErrorCode;
import com.azure.storage.blob.models.BlobRequestConditions;
import com.azure.storage.blob.models.BlobStorageException;
import com.azure.storage.blob.options.BlockBlobCommitBlockListOptions;
import com.azure.storage.blob.options.BlockBlobStageBlockOptions;
import com.azure.storage.blob.specialized.BlockBlobClient;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Sends blocks, and then the list of blocks that makes them a blob. The writer's mark is part of their names, because
 * all writers of one key share its blocks.
 */
final class AzureUpload implements Bucket.Upload {

    private final BlockBlobClient blob;
    private final String mark;
    private final AzureErrors errors;

    AzureUpload(BlockBlobClient blob, String mark, AzureErrors errors) {
        this.blob = blob;
        this.mark = mark;
        this.errors = errors;
    }

    /** Returns the name of a block. All names have the same length, as Azure requires. */
    private String block(int number) {
        return Base64.getEncoder()
                .encodeToString(
                        String.format(Locale.ROOT, "%s-%05d", mark, number).getBytes(US_ASCII));
    }

    private void stage(int number, byte[] piece, int length) throws IOException {
        try {
            blob.stageBlockWithResponse(
                    new BlockBlobStageBlockOptions(
                            block(number), BinaryData.fromByteBuffer(ByteBuffer.wrap(piece, 0, length))),
                    null,
                    Context.NONE);
        } catch (RuntimeException e) {
            throw errors.translate(e);
        }
    }

    @Override
    public void send(int number, byte[] piece) throws IOException {
        stage(number, piece, piece.length);
    }

    @Override
    public boolean finish(int number, byte[] piece, int length) throws IOException {
        if (length > 0) {
            stage(number, piece, length);
        }
        List<String> blocks = new ArrayList<>();
        for (int i = 0; i < number + (length > 0 ? 1 : 0); i++) {
            blocks.add(block(i));
        }
        try {
            blob.commitBlockListWithResponse(
                    new BlockBlobCommitBlockListOptions(blocks)
                            .setMetadata(Map.of(AzureBucket.MARK, mark))
                            .setRequestConditions(new BlobRequestConditions().setIfNoneMatch("*")),
                    null,
                    Context.NONE);
            return true;
        } catch (RuntimeException e) {
            if (AzureBucket.isRefusedByCondition(e) || haveBlocksGone(e)) {
                return false;
            }
            throw errors.translate(e);
        }
    }

    /** The commit of any writer of this key drops the blocks of all others. */
    private static boolean haveBlocksGone(RuntimeException e) {
        return e instanceof BlobStorageException answer
                && BlobErrorCode.INVALID_BLOCK_LIST.equals(answer.getErrorCode());
    }

    /** Does nothing: blocks without a list cannot be deleted, and Azure drops them after a week. */
    @Override
    public void abort() {}
}
