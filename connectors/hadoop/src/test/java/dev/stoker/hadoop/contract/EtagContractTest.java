package dev.stoker.hadoop.contract;

import static org.apache.hadoop.fs.CommonPathCapabilities.ETAGS_PRESERVED_IN_RENAME;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractEtagTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.jupiter.api.Test;

class EtagContractTest extends AbstractContractEtagTest {

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
        return new StokerContract(conf);
    }

    /** Hadoop's test is skipped by file systems without the capability. A read-only one renames nothing. */
    @Test
    @Override
    public void testEtagConsistencyAcrossRename() throws IOException {
        assertThat(getFileSystem().hasPathCapability(getContract().getTestPath(), ETAGS_PRESERVED_IN_RENAME))
                .isFalse();
    }
}
