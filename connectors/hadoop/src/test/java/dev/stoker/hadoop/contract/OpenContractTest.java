package dev.stoker.hadoop.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

class OpenContractTest extends AbstractContractOpenTest {

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
        return new StokerContract(conf);
    }
}
