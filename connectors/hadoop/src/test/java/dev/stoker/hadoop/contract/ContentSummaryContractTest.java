package dev.stoker.hadoop.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractContentSummaryTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

class ContentSummaryContractTest extends AbstractContractContentSummaryTest {

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
        return new StokerContract(conf);
    }
}
